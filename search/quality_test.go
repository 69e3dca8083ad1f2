package search

import (
	"fmt"
	"strings"
	"testing"
)

// skills is a small catalog: id | description | when to use.
const skills = `
commit|Creates git commits with clear messages that follow the project's conventions.|When the user asks to commit work or to save changes in git.
review-pr|Reviews a pull request for bugs, security problems and style, and writes comments.|When a code review is wanted.
release-notes|Writes release notes and a changelog from merged pull requests.|When a version is tagged or published.
pdf-tools|Extracts text, tables and images from PDF files; merges, splits and rotates pages.|When a .pdf file is mentioned.
excel-report|Builds Excel workbooks with formulas, charts and pivot tables.|For spreadsheets, .xlsx or .csv data.
word-documents|Creates and edits Word documents with headings, styles and tracked changes.|For .docx files and letters.
slide-deck|Makes presentations with a title, speaker notes and charts.|For PowerPoint, .pptx or a pitch deck.
unit-tests|Writes unit tests with table-driven cases and checks the coverage.|When code has no tests.
e2e-browser|Drives a real browser to test web pages, click buttons and take screenshots.|For end-to-end tests of a web application.
dockerize|Writes a Dockerfile and compose file for an application, with small images.|When somebody wants containers.
k8s-deploy|Deploys services to a Kubernetes cluster with Helm charts and checks the rollout.|For pods, ingress, deployments.
terraform-plan|Plans and applies infrastructure as code with Terraform; explains drift.|For cloud infrastructure.
aws-costs|Finds expensive resources in an AWS account and suggests savings.|When the cloud bill is too high.
sql-tuning|Explains slow SQL queries and proposes indexes for PostgreSQL.|When a database is slow.
db-migration|Writes reversible schema migrations and checks them against a copy of the database.|When tables or columns change.
api-design|Designs REST and gRPC interfaces with OpenAPI descriptions and versioning.|For new endpoints.
react-component|Creates React components with accessible markup, hooks and stories.|For user interface work.
css-layout|Fixes layouts with flexbox and grid, and makes pages responsive.|When something looks broken on a phone.
a11y-audit|Checks pages for accessibility problems: contrast, labels, keyboard use.|For WCAG and screen readers.
translate|Translates documentation and user interface strings, keeping placeholders.|When another language is needed.
log-analysis|Finds error patterns and anomalies in log files.|When a service crashed or misbehaves.
incident-report|Writes a blameless postmortem with timeline and action items.|After an outage.
security-scan|Scans dependencies and code for known vulnerabilities and leaked secrets.|Before a release, or when a CVE is announced.
refactor|Restructures code in small safe steps without changing behaviour.|When code is hard to read.
profile-go|Profiles Go programs for CPU and memory, reads flame graphs.|When a Go service is slow or leaks memory.
python-packaging|Builds and publishes Python packages with pyproject.toml.|For wheels and PyPI.
jupyter|Cleans, runs and exports Jupyter notebooks.|For .ipynb files.
data-cleaning|Removes duplicates, fixes types and fills gaps in tabular data with pandas.|When a data set is messy.
ml-training|Trains and evaluates machine learning models and tracks experiments.|For classification or regression.
image-resize|Converts, crops and compresses pictures.|For .png, .jpg and .webp.
video-cut|Cuts, joins and subtitles videos with ffmpeg.|For .mp4 and .mov files.
email-writer|Drafts polite e-mails in the tone of the company.|When the user wants to write to a customer.
meeting-minutes|Summarises a transcript into decisions and tasks.|After a meeting or a call.
calendar|Finds free times and schedules appointments.|When a date must be agreed.
github-actions|Writes and repairs CI workflows for GitHub Actions.|When the pipeline fails.
regexHelper|Explains and builds regular expressions.|When a pattern does not match.
i18n-setup|Prepares an application for several languages: message catalogs, plural rules.|Before strings are translated.
brand-guidelines|Applies logo, colours and typography of the company.|When something is published in the company's name.
biao-ge|从 PDF 和图片中提取表格，导出为 Excel 文件。|当用户需要提取表格或识别扫描件时使用。
zhou-bao|根据提交记录和任务列表撰写中文周报。|当用户要写周报或总结工作时使用。
fan-yi|把技术文档翻译成中文，保留代码和术语。|当用户需要翻译时使用。
shaken-hyo|日本語の請求書を作成し、消費税を計算します。|請求書や見積書が必要なときに使います。
gijiroku|会議の録音から議事録を作成します。|会議のあと、議事録をまとめるときに使います。
hoegyejang|한국어 회의록을 요약하고 할 일을 정리합니다.|회의가 끝난 뒤에 사용합니다.
rechnung|Erstellt Rechnungen und Mahnungen nach deutschem Recht, mit Umsatzsteuer.|Wenn eine Rechnung geschrieben werden soll.
uebersetzung|Übersetzt Verträge und Briefe ins Deutsche, mit Glossar.|Wenn ein Text übersetzt werden soll.
`

// questions is what people ask and the skills that answer: query = best,
// or other good answers.
const questions = `
please commit my work = commit
can you commit these changes = commit
git commit message = commit
review my pull request = review-pr
code review = review-pr
write the changelog for the new version = release-notes
extract tables from a PDF = pdf-tools
merge two pdfs = pdf-tools
rotate pages = pdf-tools
make a spreadsheet with a pivot table = excel-report
xlsx = excel-report
csv chart = excel-report
write a letter as docx = word-documents
I need a pitch deck = slide-deck
powerpoint presentation = slide-deck
add tests, this has no coverage = unit-tests
test the web page in a browser = e2e-browser
take a screenshot of the page = e2e-browser
containerize the app with docker = dockerize
docker compose = dockerize
deploying to kubernetes = k8s-deploy
the helm rollout is stuck = k8s-deploy
terraform drift = terraform-plan
why is our aws bill so high = aws-costs
slow query postgres = sql-tuning
which index should I add = sql-tuning
add a column to the users table = db-migration
migrations = db-migration
design an endpoint = api-design
OpenAPI = api-design
new react component = react-component
the layout is broken on my phone = css-layout
accessibility = a11y-audit
keyboard contrast check = a11y-audit
translate the docs = translate
find errors in the logs = log-analysis
the service crashed last night = log-analysis
write a postmortem = incident-report
scan for vulnerabilities = security-scan
are there leaked secrets = security-scan
this code is hard to read, restructure it = refactor
go program uses too much memory = profile-go
flame graph = profile-go
publish to pypi = python-packaging
notebook = jupyter
remove duplicates from the data = data-cleaning
training a classification model = ml-training
compress png images = image-resize
subtitles for a video = video-cut
answer a customer by email = email-writer
summarise the meeting = meeting-minutes
schedule an appointment = calendar
ci pipeline failing = github-actions
githubActions = github-actions
regex helper = regexHelper
regexhelper = regexHelper
regular expression does not match = regexHelper
plural rules for languages = i18n-setup
logo and colours = brand-guidelines
提取表格 = biao-ge
把图片里的表格导出 = biao-ge
写周报 = zhou-bao
帮我总结本周的工作 = zhou-bao
翻译文档 = fan-yi
請求書を作りたい = shaken-hyo
消費税の計算 = shaken-hyo
議事録をまとめて = gijiroku
회의록 요약 = hoegyejang
Rechnung schreiben = rechnung
Vertrag ins Deutsche übersetzen = uebersetzung
Uebersetzung = uebersetzung
`

func catalog(t testing.TB) []Doc {
	t.Helper()
	var docs []Doc
	for line := range strings.Lines(strings.TrimSpace(skills)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			t.Fatalf("bad line %q", line)
		}
		docs = append(docs, Doc{ID: f[0], Description: f[1], WhenToUse: f[2]})
	}
	return docs
}

// How often the right skill is found, and how far up (L-8).
func TestQuality(t *testing.T) {
	ix := Build(catalog(t))
	var reciprocal float64
	var first, third, n int
	for line := range strings.Lines(strings.TrimSpace(questions)) {
		query, want, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if !ok {
			t.Fatalf("bad line %q", line)
		}
		n++
		place := 0
		var got []string
		for i, h := range ix.Search(query, 10) {
			got = append(got, fmt.Sprintf("%s %.1f", h.ID, h.Score))
			if h.ID == want && place == 0 {
				place = i + 1
			}
		}
		if place == 1 {
			first++
		} else {
			t.Logf("%q: %s at %d of %v", query, want, place, got[:min(4, len(got))])
		}
		if place >= 1 && place <= 3 {
			third++
		}
		if place > 0 {
			reciprocal += 1 / float64(place)
		}
	}
	t.Logf("%d questions: first %d, first three %d, MRR %.3f", n, first, third, reciprocal/float64(n))
	if share := float64(first) / float64(n); share < 0.9 {
		t.Errorf("%.2f of the best answers are first, want 0.9", share)
	}
	if third < n-1 {
		t.Errorf("%d of %d answers are not among the first three", n-third, n)
	}
	if mrr := reciprocal / float64(n); mrr < 0.93 {
		t.Errorf("mean reciprocal rank %.3f, want 0.93", mrr)
	}
}
