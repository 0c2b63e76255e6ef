import type { Random } from './random.ts'

const HOST = 'Host: bezel\r\nConnection: close\r\n'

/** Bytes that are not HTTP, or barely. Each connection must get an error in the standard shape, or a plain answer. */
const RAW_REQUESTS: readonly (readonly [string, string])[] = [
  ['nonsense', 'nonsense\r\n\r\n'],
  ['no host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['two hosts', `GET /health HTTP/1.1\r\nHost: a\r\n${HOST}\r\n`],
  ['old version', 'GET /health HTTP/1.0\r\n\r\n'],
  ['unknown version', `GET /health HTTP/9.9\r\n${HOST}\r\n`],
  ['unknown method', `FROB /health HTTP/1.1\r\n${HOST}\r\n`],
  ['small method', `get /health HTTP/1.1\r\n${HOST}\r\n`],
  ['whole address', `GET http://elsewhere/health HTTP/1.1\r\n${HOST}\r\n`],
  ['star', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
  ['space in the path', `GET /hea lth HTTP/1.1\r\n${HOST}\r\n`],
  ['NUL in the path', `GET /hea\u0000lth HTTP/1.1\r\n${HOST}\r\n`],
  ['NUL in a header', `GET /health HTTP/1.1\r\n${HOST}X-A: \u0000\r\n\r\n`],
  ['header without colon', `GET /health HTTP/1.1\r\n${HOST}X-A\r\n\r\n`],
  ['folded header', `GET /health HTTP/1.1\r\n${HOST}X-A: a\r\n b\r\n\r\n`],
  ['bare line feeds', 'GET /health HTTP/1.1\nHost: a\nConnection: close\n\n'],
  ['negative length', `POST /v1/arbitrum-sepolia/orders HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`],
  [
    'two lengths',
    `POST /v1/arbitrum-sepolia/orders HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
  ],
  [
    'length and chunks',
    `POST /v1/arbitrum-sepolia/orders HTTP/1.1\r\n${HOST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'bad chunk',
    `POST /v1/arbitrum-sepolia/agents HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
  ],
  [
    'good chunks',
    `POST /v1/arbitrum-sepolia/agents HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  ],
  ['huge header', `GET /health HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(40_000)}\r\n\r\n`],
  ['huge path', `GET /${'a'.repeat(40_000)} HTTP/1.1\r\n${HOST}\r\n`],
  ['many headers', `GET /health HTTP/1.1\r\n${HOST}${'X-A: 1\r\n'.repeat(1_900)}\r\n`],
  ['expects the unknown', `GET /health HTTP/1.1\r\n${HOST}Expect: the-unknown\r\n\r\n`],
  [
    'expects to continue',
    `POST /v1/arbitrum-sepolia/agents HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}`,
  ],
  ['upgrade', 'GET /health HTTP/1.1\r\nHost: bezel\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['other protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['two at once', `GET /health HTTP/1.1\r\nHost: bezel\r\n\r\nGET /openapi.json HTTP/1.1\r\n${HOST}\r\n`],
]

export function rawRequest(random: Random): { readonly how: string; readonly bytes: Uint8Array } {
  const [how, text] = random.pick(RAW_REQUESTS)
  return { how, bytes: Buffer.from(text, 'latin1') }
}
