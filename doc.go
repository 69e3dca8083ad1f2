// Package knack is the skills system for AI agents: it finds skills, tells a
// model in about one percent of its context which exist, and compiles one into
// the text that is injected when a person or a model calls it.
//
//	what is there                         run one                              remember
//	-------------                         -------                              --------
//	source/bundled ┐                      slash (/name) ┐                      session
//	source/dir     ├─> frontmatter        Skill tool    ├─> invoke ─────────>  invoked,
//	source/plugin  │        │             schedule, mcp ┘     │                activated,
//	source/mcp     ┘        v                  permission <───┤                announced
//	                     catalog ────────────────────────────>│
//	                     (Snapshot)            prompt <───────┤ (parse, expand,
//	                        │                     └─> shell   │  inline shell)
//	                        v                                 v
//	                 listing, search             turn.Message + turn.Override (inline)
//	              (what the model sees)          Forker                       (fork)
//
// [New] wires the stages for one workspace. A program that wants only some of
// them uses the packages below this one directly; each says in its own
// documentation what it leaves to whom.
package knack
