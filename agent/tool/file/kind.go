package file

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// refuse says why content is not shown as text, or nil. It looks at the
// beginning alone.
func refuse(path string, content []byte) error {
	head := content[:min(len(content), 8<<10)]
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	switch {
	case strings.HasPrefix(kind, "image/"):
		return fmt.Errorf("%s is an image (%s), and images cannot be shown yet", path, kind)
	case kind == "application/pdf":
		return fmt.Errorf("%s is a PDF: take its text out with a program such as pdftotext in Bash", path)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return fmt.Errorf("%s is UTF-16 text: convert it to UTF-8 first, for example with iconv in Bash", path)
	case bytes.IndexByte(head, 0) >= 0:
		return fmt.Errorf("%s is a binary file (%s): look at it with a program such as file or xxd in Bash", path, kind)
	}
	return nil
}
