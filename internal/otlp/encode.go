package otlp

import (
	"encoding/json"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
)

// The shapes of OTLP as JSON: ids in hexadecimal, numbers of 64 bits as text,
// enumerations as numbers.
type (
	jsonTraces struct {
		Resources []jsonResourceSpans `json:"resourceSpans"`
	}
	jsonResourceSpans struct {
		Resource jsonResource     `json:"resource"`
		Scopes   []jsonScopeSpans `json:"scopeSpans"`
	}
	jsonScopeSpans struct {
		Scope scope      `json:"scope"`
		Spans []jsonSpan `json:"spans"`
	}
	jsonSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		ParentID   string          `json:"parentSpanId,omitempty"`
		TraceState string          `json:"traceState,omitempty"`
		Flags      uint32          `json:"flags"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      string          `json:"startTimeUnixNano"`
		End        string          `json:"endTimeUnixNano"`
		Attributes []jsonAttribute `json:"attributes"`
		Dropped    int             `json:"droppedAttributesCount,omitempty"`
		Status     jsonStatus      `json:"status"`
	}
	jsonStatus struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	jsonMetrics struct {
		Resources []jsonResourceMetrics `json:"resourceMetrics"`
	}
	jsonResourceMetrics struct {
		Resource jsonResource       `json:"resource"`
		Scopes   []jsonScopeMetrics `json:"scopeMetrics"`
	}
	jsonScopeMetrics struct {
		Scope   scope         `json:"scope"`
		Metrics []*jsonMetric `json:"metrics"`
	}
	jsonMetric struct {
		Name        string        `json:"name"`
		Unit        string        `json:"unit,omitempty"`
		Description string        `json:"description,omitempty"`
		Histogram   jsonHistogram `json:"histogram"`
	}
	jsonHistogram struct {
		Temporality int         `json:"aggregationTemporality"`
		Points      []jsonPoint `json:"dataPoints"`
	}
	jsonPoint struct {
		Attributes []jsonAttribute `json:"attributes"`
		Start      string          `json:"startTimeUnixNano"`
		Time       string          `json:"timeUnixNano"`
		Count      string          `json:"count"`
		Sum        float64         `json:"sum"`
		Min        float64         `json:"min"`
		Max        float64         `json:"max"`
		Buckets    []string        `json:"bucketCounts"`
		Bounds     []float64       `json:"explicitBounds"`
	}
	jsonResource struct {
		Attributes []jsonAttribute `json:"attributes"`
	}
	jsonAttribute struct {
		Key   string    `json:"key"`
		Value jsonValue `json:"value"`
	}
	jsonValue struct {
		String *string    `json:"stringValue,omitempty"`
		Bool   *bool      `json:"boolValue,omitempty"`
		Int    *string    `json:"intValue,omitempty"`
		Double *float64   `json:"doubleValue,omitempty"`
		Array  *jsonArray `json:"arrayValue,omitempty"`
	}
	jsonArray struct {
		Values []jsonValue `json:"values"`
	}
)

// A scope is the library that records.
type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// cumulative counts from the beginning of the process.
const cumulative = 2

// statusCodes are the API's codes as OTLP numbers them.
var statusCodes = map[codes.Code]int{codes.Unset: 0, codes.Ok: 1, codes.Error: 2}

// spansJSON is the body of a request with spans.
func spansJSON(resource []Attribute, spans []*span) ([]byte, error) {
	var scopes []jsonScopeSpans
	for _, s := range spans {
		i := len(scopes) - 1
		if i < 0 || scopes[i].Scope != s.t.scope {
			scopes = append(scopes, jsonScopeSpans{Scope: s.t.scope})
			i++
		}
		scopes[i].Spans = append(scopes[i].Spans, s.encode())
	}
	return json.Marshal(jsonTraces{[]jsonResourceSpans{{encodeResource(resource), scopes}}})
}

// encode is an ended span.
func (s *span) encode() jsonSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := jsonSpan{TraceID: s.context.TraceID().String(), SpanID: s.context.SpanID().String(), TraceState: s.context.TraceState().String(),
		Flags: uint32(s.context.TraceFlags()), Name: s.name, Kind: int(s.kind), Start: nanos(s.begin), End: nanos(s.end),
		Attributes: attributes(s.attrs), Dropped: s.dropped, Status: jsonStatus{statusCodes[s.code], s.message}}
	if s.parent.IsValid() {
		j.ParentID = s.parent.String()
	}
	return j
}

// metricsJSON is the body of a request with metrics; nil without any.
func metricsJSON(resource []Attribute, list []*histogram, began, now time.Time) ([]byte, error) {
	var scopes []jsonScopeMetrics
	for _, h := range list {
		m := h.encode(began, now)
		if m == nil {
			continue
		}
		i := len(scopes) - 1
		if i < 0 || scopes[i].Scope != h.scope {
			scopes = append(scopes, jsonScopeMetrics{Scope: h.scope})
			i++
		}
		scopes[i].Metrics = append(scopes[i].Metrics, m)
	}
	if len(scopes) == 0 {
		return nil, nil
	}
	return json.Marshal(jsonMetrics{[]jsonResourceMetrics{{encodeResource(resource), scopes}}})
}

func encodeResource(list []Attribute) jsonResource {
	r := jsonResource{Attributes: []jsonAttribute{}}
	for _, a := range list {
		r.Attributes = append(r.Attributes, jsonAttribute{a.Key, jsonValue{String: &a.Value}})
	}
	return r
}

func attributes(list []attribute.KeyValue) []jsonAttribute {
	out := make([]jsonAttribute, 0, len(list))
	for _, a := range list {
		out = append(out, jsonAttribute{string(a.Key), value(a.Value)})
	}
	return out
}

// value writes the kinds of values that are used; any other is its text.
func value(v attribute.Value) jsonValue {
	switch v.Type() {
	case attribute.BOOL:
		b := v.AsBool()
		return jsonValue{Bool: &b}
	case attribute.INT64:
		n := strconv.FormatInt(v.AsInt64(), 10)
		return jsonValue{Int: &n}
	case attribute.FLOAT64:
		f := v.AsFloat64()
		return jsonValue{Double: &f}
	case attribute.STRINGSLICE:
		a := jsonArray{Values: []jsonValue{}}
		for _, s := range v.AsStringSlice() {
			a.Values = append(a.Values, jsonValue{String: &s})
		}
		return jsonValue{Array: &a}
	}
	s := v.AsString()
	if v.Type() != attribute.STRING {
		s = v.String()
	}
	return jsonValue{String: &s}
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func number(n uint64) string { return strconv.FormatUint(n, 10) }
