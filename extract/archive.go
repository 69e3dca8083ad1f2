package extract

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNoArchive reports a file that is neither zip nor tar nor compressed tar.
var ErrNoArchive = errors.New("it is no zip, tar or tar.gz archive")

// Archive writes what an archive holds: a zip, a tar or a tar.gz, told apart by
// how they begin.
func (w *Writer) Archive(ctx context.Context, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return w.zip(ctx, f, info.Size())
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(io.NewSectionReader(f, 0, info.Size()))
		if err != nil {
			return err
		}
		defer z.Close()
		// A stream tells no sizes beforehand, so what comes out of it is held
		// against what went in.
		limit := max(info.Size()*w.limits.Ratio, suspicious)
		return w.tar(ctx, &bounded{from: z, left: limit})
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return w.tar(ctx, io.NewSectionReader(f, 0, info.Size()))
	}
	return ErrNoArchive
}

// suspicious is how much may come out of little, in bytes, before the ratio
// counts.
const suspicious = 4 << 20

// bounded ends a stream that brings too much.
type bounded struct {
	from io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, refuse("", "it holds far more than its size promises")
	}
	return n, err
}

// maxZipEntries bounds the directory of a zip, which is read as a whole.
const maxZipEntries = 200_000

func (w *Writer) zip(ctx context.Context, f io.ReaderAt, size int64) error {
	r, err := zip.NewReader(f, size)
	if err != nil {
		return fmt.Errorf("reading the zip: %w", err)
	}
	if len(r.File) > maxZipEntries {
		return refuse("", "there are more than %d files", w.limits.Files)
	}
	for _, e := range r.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.zipped(e); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) zipped(e *zip.File) error {
	mode := e.Mode()
	switch {
	case mode.IsDir():
		return w.Dir(e.Name)
	case mode&fs.ModeSymlink != 0:
		target, err := read(e, maxName)
		if err != nil {
			return err
		}
		return w.Link(e.Name, string(target))
	case !mode.IsRegular():
		return refuse(e.Name, "is no file, directory or link")
	case e.UncompressedSize64 > uint64(suspicious) && e.UncompressedSize64/max(e.CompressedSize64, 1) > uint64(w.limits.Ratio):
		return refuse(e.Name, "holds far more than its size promises")
	}
	in, err := e.Open()
	if err != nil {
		return fmt.Errorf("reading %.200q: %w", e.Name, err)
	}
	defer in.Close()
	return w.File(e.Name, mode&0o111 != 0, in)
}

// read returns a short file of a zip.
func read(e *zip.File, limit int64) ([]byte, error) {
	in, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = refuse(e.Name, "is a link with a very long target")
	}
	return data, err
}

func (w *Writer) tar(ctx context.Context, from io.Reader) error {
	r := tar.NewReader(from)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the archive: %w", err)
		}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeGNUSparse:
			err = w.File(h.Name, h.Mode&0o111 != 0, r)
		case tar.TypeDir:
			err = w.Dir(h.Name)
		case tar.TypeSymlink:
			err = w.Link(h.Name, h.Linkname)
		case tar.TypeXGlobalHeader: // a comment, as git archive writes it
		default:
			err = refuse(h.Name, "is no file, directory or link")
		}
		if err != nil {
			return err
		}
	}
}
