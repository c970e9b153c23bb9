// Package journal is an append-only log for one process that has all that is live in memory, and reads the log only when it
// starts. It knows nothing of messages: a record is octets and a kind.
//
// # Records
//
// A record is one operation of the log's [Owner], whole or not at all: [Log.Append] takes it and returns its place, a [Pos],
// without waiting for anything. Later the record is written, and then synced. Whoever has to know, asks with [Log.Wait], or
// has a function called with [Log.Notify], and says which [Level] it needs: the levels of different records, and of
// different questions about one record, need not be the same.
//
// One goroutine, the committer, writes and syncs. While it does, the records of other operations collect; they are the next
// batch, or several if they are more than a quarter of [Options].MaxPending. So a hundred operations that wait share a sync, one
// that is alone waits for its own, and there is no timer. A batch is synced if somebody waits for that. Records for which nobody
// does are synced with the next batch that is, when their segment is full, and by Close. A second goroutine, the sealer, ends a full
// segment while the committer writes the next one. A third one, the compactor, frees space: see Space.
//
// # What waits for what
//
// Append, Move, Release and Notify never wait for the disk: they can be called with the Owner's locks held. The log's own
// lock is the innermost; under it nothing is called. Wait, Sync, Room and Close do wait, some for the compactor, which calls
// the Owner, so they must not be called with a lock that the Owner takes, nor in a function that was given to Notify.
//
//	the lock of a virtual host   >   the log's lock
//
// Snapshot and CopyForward are called without the log's lock. Both take the Owner's locks, Snapshot on the committer,
// CopyForward on the compactor. Functions of Notify run on the committer, in the order of their records.
//
// # Space
//
// The log is a sequence of segments, files of 16 MiB. The Owner says how many octets of a record are live when it appends
// it, and with [Log.Release] which segment has how many fewer. All that an entry of the Owner has to keep of its place is a
// [Segment], four octets: how many octets the entry had follows from the entry.
//
// Segments are removed from the oldest on, when nothing in them is live. When the log takes more than 1.5 times what is live
// and two segments, the compactor has the Owner append again, with [Log.Move], what is live in the oldest one: some 128 KiB
// at a time. The log is bounded by twice what is live and four segments, for an owner that calls [Log.Room] before
// operations that clients ask for. Only a sudden release of much can exceed that, for as long as the compactor needs.
//
// The files of up to three removed segments stay, as far as that bound lets them, and the next segments take them. Their names end
// in .spare.
//
// Because the oldest goes first, a record that only speaks of an older one is not live: as long as the older one is there,
// so is it. An acknowledgement, a count, a dead letter that takes its body from the record of the message that died: all of
// them are appended with live 0. When an entry is copied forward, the one new record says everything about it.
//
// A snapshot stands at the head of each segment: what the Owner cannot copy entry by entry, such as the topology. Records that
// change it are appended with live 0, too.
//
// # The format
//
// All numbers are little-endian. The directory has a file named lock, whose lock (flock, LockFileEx) a process holds while it uses
// the log, and whose text says that there were segments; and the segments, named by their numbers: 00000001.journal.
//
// A segment is a header of 56 octets, the snapshot, frames, and up to the size that was allocated zeros, or what stood in the file
// when it was another segment's:
//
//	 0  8  "leveretJ"
//	 8  4  version of the format, 6
//	12  4  number of the segment
//	16  4  number of the oldest segment when this one was begun
//	20  4  seed: of the first segment drawn at random, of each other 0x9e3779b9 more than that of the one before
//	24  4  octets of the snapshot
//	28  4  CRC-32C of the snapshot, begun with the seed
//	32  8  place up to which the snapshot may know the records
//	40  8  place at which the segment before ended; 0 if there was none
//	48  4  1 if the log was opened for this segment, 0 if it was begun while writing
//	52  4  CRC-32C of the 52 octets before
//	56     snapshot
//
// A frame is a record:
//
//	0  4  CRC-32C of what follows, begun with the seed XOR the frame's offset in the file
//	4  4  octets of data
//	8  1  kind
//	9     data
//
// The log's own frames have eight octets of data, one number or two. A mark begins each batch. It says up to which offset the file
// was synced before, in the first four octets, and where the batch ends. The offset is 0 if the segment before was not synced. A seal
// ends a segment and names the next one, or 0 if the log was closed. A record of kind retired,
// synced before a file is removed, says that it is not needed any more.
//
// # What a crash leaves
//
// What was written and not synced can be there in part, in any order. Nobody was told that it was synced. Recovery stops at the first
// frame that is not good and looks at what is behind it, in this segment and in the next ones. A mark that says that the bad place
// had been synced, or a seal, proves that the disk lost what it had: Open refuses the log with file and offset. Without such a proof
// the rest was not synced. It is dropped, with segments that stand behind it, and reported with its offset in [Recovery], as far as a
// mark or a segment tells of it. What stands there from another segment is not taken for a frame: no two segments have the same seed.
//
// When a segment is full the next one is written under a name that ends in .new, renamed, and gets the records that follow. The sealer
// does three things meanwhile, each of which is durable before the next: the full segment is synced; the next one is, and its name;
// the full one gets its seal. Only then a record of the next one counts as synced. So of the segments only the last two can lack
// their seals, or three if Open did not come to its end. A segment without a seal is whole if it has all frames up to where the next
// one says that it ended. Of a segment behind one without a seal even the header may be missing.
//
// Open always begins a new segment. Before that it syncs what it has replayed: a process that was killed may not have done so, and the
// machine may crash after that.
//
// Zeros are written in advance behind the last frame of a new file, so that small syncs need not wait for the file system's own log.
//
// A segment is removed when all that made it dispensable is synced: the copies, and the records that ended what was not copied.
// Nothing is written to its file before the removal of its name is synced, too. Open removes the spares that it finds.
//
// Snapshots are taken while others append. One can know operations whose records were never written. It is not used then:
// each segment that Open begins says where the one before was found to end, and recovery takes the oldest snapshot that knew of
// nothing behind such an end. On top of a later snapshot older records are replayed, which is why they have to say what is,
// not what changed.
//
// # Failures
//
// A write or a sync that fails is final. After a failed sync nobody knows what is on the disk, and the operating system may
// report success the next time without having written anything. Every later Append and Wait gets the first error. A new
// process finds what is there. A failure to remove a file or to copy is not final: Stats tells it, and the log goes on
// growing.
//
// # Why no library
//
// Of seven stores that were measured with the same loop (one publisher, 100 confirms outstanding, acknowledged 1,000 later)
// this design takes the least processor time: 1.7 µs a message of 100 octets, pebble 3.9, tidwall/wal 2.3, raft-wal 2.7,
// badger 7.1, bbolt 7.7, SQLite 12.1, at 402,000, 355,000, 308,000, 262,000, 98,000, 91,000 and 81,000 messages a second.
// tidwall/wal and raft-wal can be cut in front only: with half a million messages of 1 KiB of which every hundredth stays
// they took 524 and 578 MB, where 5 MB were live. pebble does not, and brings some sixty modules.
package journal
