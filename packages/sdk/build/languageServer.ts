import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'

/** A place in a file, counted from 0. */
export interface TextPosition {
  readonly line: number
  readonly character: number
}

/** A symbol of a file, as an editor lists it in its outline. */
export interface FileSymbol {
  readonly name: string
  /** Kind of the language server protocol. */
  readonly kind: number
  /** Text of the whole declaration. */
  readonly range: { readonly start: TextPosition; readonly end: TextPosition }
  /** Text of its name. */
  readonly selectionRange: { readonly start: TextPosition }
  readonly children?: readonly FileSymbol[]
}

/** The compiler as an editor uses it. */
export interface LanguageServer {
  /** Opens a file, as an editor does before it asks about it. */
  open(file: string): void
  symbols(file: string): Promise<readonly FileSymbol[]>
  /** Returns the text that an editor shows at a place: the type and, below it, the comment. */
  hover(file: string, position: TextPosition): Promise<string>
  /** Returns the messages of the errors in a file. */
  errors(file: string): Promise<readonly string[]>
  close(): void
}

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly items?: readonly unknown[] }
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

const HEADER_END = '\r\n\r\n'

/** Starts the language server of the compiler for a project in `folder`. */
export async function startLanguageServer(folder: string): Promise<LanguageServer> {
  const compiler = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  const child = spawn(process.execPath, [join(compiler, 'bin', 'tsc'), '--lsp', '--stdio'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const { request, send } = openChannel(child)
  const textDocument = (file: string) => ({ uri: pathToFileURL(file).href })
  const hover = { contentFormat: ['markdown'] }
  const documentSymbol = { hierarchicalDocumentSymbolSupport: true }
  await request('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { textDocument: { hover, documentSymbol, diagnostic: {} } },
  })
  send({ method: 'initialized', params: {} })
  return {
    open(file) {
      const document = { ...textDocument(file), languageId: 'typescript', version: 1, text: readFileSync(file, 'utf8') }
      send({ method: 'textDocument/didOpen', params: { textDocument: document } })
    },
    symbols: (file) => request('textDocument/documentSymbol', { textDocument: textDocument(file) }),
    async hover(file, position) {
      const params = { textDocument: textDocument(file), position }
      const found = await request<{ contents?: { value?: string } } | null>('textDocument/hover', params)
      return found?.contents?.value ?? ''
    },
    async errors(file) {
      const params = { textDocument: textDocument(file) }
      const { items } = await request<{ items: readonly { message: string; severity?: number }[] }>(
        'textDocument/diagnostic',
        params,
      )
      return items.filter(({ severity }) => severity === 1).map(({ message }) => message)
    },
    close: () => void child.kill(),
  }
}

/** The messages between an editor and a server: JSON-RPC with a header for the length. */
interface Channel {
  readonly send: (message: object) => void
  /** Sends a request and returns its result. Throws when the server refuses it or ends. */
  readonly request: <Result>(method: string, params: object) => Promise<Result>
}

function openChannel(child: ChildProcessByStdio<Writable, Readable, null>): Channel {
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>()
  let lastId = 0
  let bytes = Buffer.alloc(0)
  function send(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}${HEADER_END}${text}`)
  }
  function take({ id, method, params, result, error }: Message): void {
    if (id === undefined) return
    // A question of the server, for settings that we have none of.
    if (method !== undefined) return send({ id, result: params?.items?.map(() => null) ?? null })
    const asked = waiting.get(Number(id))
    waiting.delete(Number(id))
    if (error === undefined) asked?.resolve(result)
    else asked?.reject(new Error(error.message))
  }
  child.stdout.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const end = bytes.indexOf(HEADER_END)
      const length = Number(/Content-Length: (\d+)/i.exec(bytes.subarray(0, Math.max(end, 0)).toString())?.[1])
      const start = end + HEADER_END.length
      if (end < 0 || bytes.length < start + length) return
      take(JSON.parse(bytes.subarray(start, start + length).toString()) as Message)
      bytes = bytes.subarray(start + length)
    }
  })
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the language server ended with ${code}`))
  })
  return {
    send,
    request<Result>(method: string, params: object) {
      const id = ++lastId
      return new Promise<Result>((resolve, reject) => {
        waiting.set(id, { resolve: resolve as (result: unknown) => void, reject })
        send({ id, method, params })
      })
    },
  }
}
