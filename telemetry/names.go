package telemetry

// The names of the OpenTelemetry semantic conventions for generative AI, as far
// as they are used here. They have left the convention packages of the Go
// module after v1.41, and are still in development, so they are spelt out; what
// the conventions have no word for is called knack.… .
const (
	keyOperation     = "gen_ai.operation.name"
	keyProvider      = "gen_ai.provider.name"
	keyConversation  = "gen_ai.conversation.id"
	keyAgentID       = "gen_ai.agent.id"
	keyAgentName     = "gen_ai.agent.name"
	keyRequestModel  = "gen_ai.request.model"
	keyResponseModel = "gen_ai.response.model"
	keyFinishReasons = "gen_ai.response.finish_reasons"
	keyInput         = "gen_ai.usage.input_tokens"
	keyOutput        = "gen_ai.usage.output_tokens"
	keyCacheRead     = "gen_ai.usage.cache_read.input_tokens"
	keyCacheCreation = "gen_ai.usage.cache_creation.input_tokens"
	keyTokenType     = "gen_ai.token.type"
	keyToolName      = "gen_ai.tool.name"
	keyToolCallID    = "gen_ai.tool.call.id"
	keyToolType      = "gen_ai.tool.type"
	keyErrorType     = "error.type"

	opChat        = "chat"
	opExecuteTool = "execute_tool"
	opInvokeAgent = "invoke_agent"

	keyPurpose    = "knack.request.purpose"
	keySkill      = "knack.skill.id"
	keySource     = "knack.skill.source"
	keyBy         = "knack.invocation.by"
	keyMode       = "knack.invocation.mode"
	keyTokens     = "knack.invocation.tokens"
	keyOutcome    = "knack.outcome"
	keyHookEvent  = "knack.hook.event"
	keyHookType   = "knack.hook.type"
	keyHookOwner  = "knack.hook.owner"
	scope         = "github.com/knack-skills/knack"
	mainAgentName = "main"
)

// The metrics: how long things take and what they cost. How often they happen
// is the count of the durations.
const (
	metricOperation        = "gen_ai.client.operation.duration"
	metricTokens           = "gen_ai.client.token.usage"
	metricTool             = "knack.tool.duration"
	metricInvocation       = "knack.invocation.duration"
	metricInvocationTokens = "knack.invocation.tokens"
	metricHook             = "knack.hook.duration"
)

// The bounds of the buckets that the conventions advise: seconds in powers of
// two, tokens in powers of four.
var (
	secondBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBounds  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// providerNames are the conventions' names of providers, by ours.
var providerNames = map[string]string{"openai-chat": "openai", "gemini": "gcp.gemini"}
