import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy in front of the service that loses some requests before they arrive. */
export interface ForgetfulProxy {
  readonly url: string
  readonly lost: () => number
  close(): Promise<void>
}

/** Passes requests on, but hangs up on those that `isLost` picks by their path. */
export async function startForgetfulProxy(target: string, isLost: (path: string) => boolean): Promise<ForgetfulProxy> {
  let lost = 0
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    if (isLost(path)) {
      lost += 1
      request.socket.destroy()
      return
    }
    passOn(target + path, request).then(
      ({ status, text }) => response.writeHead(status, { 'content-type': 'application/json' }).end(text),
      () => request.socket.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost: () => lost,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function passOn(
  url: string,
  request: IncomingMessage,
): Promise<{ readonly status: number; readonly text: string }> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = Object.entries(request.headers).filter(([name]) => /^(x-|content-type)/.test(name))
  const answer = await fetch(url, {
    method: request.method ?? 'GET',
    headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
  })
  return { status: answer.status, text: await answer.text() }
}
