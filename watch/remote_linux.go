package watch

import "syscall"

// remoteTypes are the file systems on which changes made by other machines,
// or by the host of a virtual one, cause no event.
var remoteTypes = map[uint32]string{
	0x6969:     "nfs",
	0x517b:     "smb",
	0xff534d42: "cifs",
	0xfe534d42: "smb2",
	0x65735546: "fuse",
	0x01021997: "9p",
	0x00c36400: "ceph",
	0x5346414f: "afs",
	0x73757245: "coda",
	0x47504653: "gpfs",
	0x0bd00bd0: "lustre",
}

// isRemote reports whether path lies on a network file system.
func isRemote(path string) bool {
	var st syscall.Statfs_t
	if syscall.Statfs(path, &st) != nil {
		return false
	}
	return remoteTypes[uint32(st.Type)] != ""
}
