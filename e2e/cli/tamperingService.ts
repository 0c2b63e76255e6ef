import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service that prepares something else than it was asked for: a proxy that changes one answer of the real one. */
export interface TamperingService {
  readonly url: string
  close(): Promise<void>
}

/** Starts the proxy. `change` receives the calldata of each prepared transaction. */
export async function startTamperingService(
  target: () => string,
  change: (calldata: string) => string,
): Promise<TamperingService> {
  const server = createServer((request, response) => {
    void answer(request, response)
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, text } = await pass(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  }

  async function pass(request: IncomingMessage): Promise<{ status: number; text: string }> {
    const body = await bodyOf(request)
    const headers = Object.entries(request.headers).filter(
      ([name]) => !['host', 'connection', 'content-length'].includes(name),
    )
    const told = await fetch(target() + request.url, {
      method: request.method!,
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...(body === '' ? {} : { body }),
    })
    const json = (await told.json()) as { transaction?: { data: string } | null }
    if (typeof json.transaction?.data === 'string') json.transaction.data = change(json.transaction.data)
    return { status: told.status, text: JSON.stringify(json) }
  }

  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
