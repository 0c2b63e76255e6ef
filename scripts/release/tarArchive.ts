import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'

/** A file or a symbolic link of an archive. */
export type TarEntry =
  | { readonly path: string; readonly content: Buffer; readonly isExecutable: boolean }
  | { readonly path: string; readonly target: string }

const BLOCK_BYTES = 512
/** Sizes of the two fields of a header that hold a path together. */
const NAME_BYTES = 100
const PREFIX_BYTES = 155
const FILE_MODE = 0o644
const EXECUTABLE_MODE = 0o755
const LINK_MODE = 0o777
/** Place of the operating system in the head of a gzip file, and its value for an unknown one. */
const GZIP_SYSTEM_AT = 9
const GZIP_SYSTEM_UNKNOWN = 255

/**
 * Returns a gzipped archive in the ustar format. The same entries give the same bytes: they are sorted, belong to
 * nobody (user and group 0), and all have the time `seconds`.
 */
export async function createTarGz(entries: readonly TarEntry[], seconds: number): Promise<Buffer> {
  const sorted = entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
  const blocks = sorted.flatMap((entry) => {
    const header = headerOf(entry, seconds)
    return 'content' in entry ? [header, entry.content, padding(entry.content.length)] : [header]
  })
  const tar = Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)])
  const packed = await promisify(gzip)(tar, { level: constants.Z_DEFAULT_COMPRESSION })
  packed[GZIP_SYSTEM_AT] = GZIP_SYSTEM_UNKNOWN
  return packed
}

function padding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES)
}

function headerOf(entry: TarEntry, seconds: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES)
  const { name, prefix } = splitPath(entry.path)
  const isFile = 'content' in entry
  const fileMode = isFile && entry.isExecutable ? EXECUTABLE_MODE : FILE_MODE
  header.write(name, 0)
  header.write(octal(isFile ? fileMode : LINK_MODE, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(isFile ? entry.content.length : 0, 12), 124)
  header.write(octal(seconds, 12), 136)
  header.write(' '.repeat(8), 148)
  header.write(isFile ? '0' : '2', 156)
  if (!isFile) header.write(fitting(entry.target, NAME_BYTES), 157)
  header.write('ustar\x0000', 257)
  header.write(prefix, 345)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)} `, 148)
  return header
}

/** Returns a number in octal digits that end in a zero byte, `width` bytes in all. */
function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`
}

/** Splits a path at a slash, so that both halves fit. */
function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { name: path, prefix: '' }
  const slashes = [...path.matchAll(/\//g)].map(({ index }) => index)
  const at = slashes.find((index) => Buffer.byteLength(path.slice(index + 1)) <= NAME_BYTES)
  if (at === undefined) throw new Error(`${path} is too long for an archive.`)
  return { name: path.slice(at + 1), prefix: fitting(path.slice(0, at), PREFIX_BYTES) }
}

function fitting(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) > maxBytes) throw new Error(`${text} is too long for an archive.`)
  return text
}
