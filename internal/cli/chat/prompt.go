package chat

import _ "embed" // the system prompt is a document

//go:embed system.md
var systemPrompt string
