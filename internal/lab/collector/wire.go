package collector

import (
	"strconv"
	"strings"
)

// The messages of OTLP, as its JSON form names their fields.
type (
	traces struct {
		ResourceSpans []struct {
			Resource   resource
			ScopeSpans []struct {
				Scope scope
				Spans []span
			}
		}
	}
	span struct {
		TraceID, SpanID, ParentSpanID      string
		TraceState, Name                   string
		Flags                              uint32
		Kind, DroppedAttributesCount       int
		StartTimeUnixNano, EndTimeUnixNano string
		Attributes                         []attribute
		Status                             struct {
			Code    int
			Message string
		}
	}
	metrics struct {
		ResourceMetrics []struct {
			Resource     resource
			ScopeMetrics []struct {
				Scope   scope
				Metrics []metric
			}
		}
	}
	metric struct {
		Name, Unit, Description string
		Histogram               struct {
			AggregationTemporality int
			DataPoints             []point
		}
	}
	point struct {
		Attributes                      []attribute
		StartTimeUnixNano, TimeUnixNano string
		Count                           string
		Sum, Min, Max                   float64
		BucketCounts                    []string
		ExplicitBounds                  []float64
	}
	scope     struct{ Name, Version string }
	resource  struct{ Attributes []attribute }
	attribute struct {
		Key   string
		Value value
	}
	value struct {
		StringValue, IntValue *string
		BoolValue             *bool
		DoubleValue           *float64
		ArrayValue            *struct{ Values []value }
	}
)

// words makes text of attributes.
func words(list []attribute) map[string]string {
	out := map[string]string{}
	for _, a := range list {
		out[a.Key] = a.Value.text()
	}
	return out
}

func (v value) text() string {
	switch {
	case v.StringValue != nil:
		return *v.StringValue
	case v.IntValue != nil:
		return *v.IntValue
	case v.BoolValue != nil && *v.BoolValue:
		return "true"
	case v.BoolValue != nil:
		return "false"
	case v.DoubleValue != nil:
		return strconv.FormatFloat(*v.DoubleValue, 'g', -1, 64)
	case v.ArrayValue != nil:
		var parts []string
		for _, p := range v.ArrayValue.Values {
			parts = append(parts, p.text())
		}
		return strings.Join(parts, ",")
	}
	return ""
}
