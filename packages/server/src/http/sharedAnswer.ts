import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { chooseCoding, type Coding } from './negotiation.ts'

/** An answer that is the same for everybody, as bytes that are built once and sent to all. */
interface SharedAnswer {
  readonly type: string
  readonly body: Buffer
  /** False for what changes with every tick: a client could never use its tag. Default true. */
  readonly isTagged?: boolean
  /** Default: a cache may keep it and has to ask each time. */
  readonly cacheControl?: string
  /** The compressed forms of the body, where they were made before. Left out: they are made when they are asked for. */
  readonly compressed?: Readonly<Record<Coding, Buffer>>
}

/** The tag and the compressed forms of a body, each made when it is asked for first. */
interface Forms {
  tag?: string
  br?: Promise<Buffer>
  gzip?: Promise<Buffer>
}

const REVALIDATED = 'public, no-cache'

/** Length of a tag: 96 bits of a hash. */
const TAG_CHARS = 16

const [compressBrotli, compressGzip] = [promisify(brotliCompress), promisify(gzip)]

/**
 * Levels of compression. They are moderate, because a list of markets is compressed anew after each tick: the highest
 * levels take ten times as long to save another tenth.
 */
const COMPRESS: Readonly<Record<Coding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) =>
    compressBrotli(body, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      },
    }),
  gzip: (body) => compressGzip(body, { level: 5 }),
}

/** Forms by their body: they live exactly as long as the bytes that somebody keeps as the answer. */
const formsOfBodies = new WeakMap<Buffer, Forms>()

/**
 * Sends an answer that is the same for everybody: with a weak tag, as 304 to a client that has it already, and
 * compressed for a client that asks for that. Nothing is compressed twice, and nothing at all for a client that does
 * not ask. Answers to one caller never come here: their length would tell what they hold to whoever can add to them and
 * count the bytes.
 */
export function sendShared(
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  { type, body, isTagged = true, cacheControl = REVALIDATED, compressed }: SharedAnswer,
): FastifyReply | Promise<FastifyReply> {
  reply.header('Vary', varyOf(reply)).header('Cache-Control', cacheControl)
  if (isTagged) {
    const tag = (formsOf(body).tag ??= tagOf(body))
    reply.header('ETag', tag)
    if (isKnown(headers['if-none-match'], tag)) return reply.code(304).send()
  }
  reply.type(type)
  const coding = chooseCoding(headers['accept-encoding'], body.length)
  if (coding === undefined) return reply.send(body)
  if (compressed !== undefined) return reply.header('Content-Encoding', coding).send(compressed[coding])
  return sendCompressed(reply, body, coding)
}

/** Returns the header that tells caches which request headers the answer depends on. */
function varyOf(reply: FastifyReply): string {
  const others = reply.getHeader('Vary')
  return others === undefined ? 'Accept-Encoding' : `${String(others)}, Accept-Encoding`
}

/** The compression runs beside this thread, and requests that come meanwhile wait for the same one. */
async function sendCompressed(reply: FastifyReply, body: Buffer, coding: Coding): Promise<FastifyReply> {
  const bytes = await (formsOf(body)[coding] ??= COMPRESS[coding](body))
  return reply.header('Content-Encoding', coding).send(bytes)
}

function formsOf(body: Buffer): Forms {
  const known = formsOfBodies.get(body)
  if (known !== undefined) return known
  const made: Forms = {}
  formsOfBodies.set(body, made)
  return made
}

/** Returns a weak tag: it stands for the content, in whatever coding it is sent. */
function tagOf(body: Buffer): string {
  return `W/"${hash('sha256', body, 'base64url').slice(0, TAG_CHARS)}"`
}

/** True when an `If-None-Match` header has the tag, by the weak comparison (RFC 9110, 8.8.3.2). */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  const tags = header.split(',').map((one) => one.trim())
  return tags.some((one) => one === '*' || one === tag || `W/${one}` === tag)
}
