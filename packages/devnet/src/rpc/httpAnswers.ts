import type { ServerResponse } from 'node:http'
import { errorAnswer } from '../chain/answer.ts'
import { RpcError } from '../chain/rpcError.ts'
import { frame } from './respond.ts'

// The console page calls the chain from another origin, and there is nothing here to protect.
const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

/** Sends JSON text. */
export function sendJson(response: ServerResponse, status: number, json: string): void {
  // Nobody caches these, and the header costs a few percent of a small answer.
  response.sendDate = false
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(json),
    'access-control-allow-origin': '*',
  })
  response.end(json)
}

/** Sends a JSON-RPC error that belongs to no request. */
export function sendRpcError(response: ServerResponse, status: number, code: number, message: string): void {
  sendJson(response, status, frame(null, errorAnswer(new RpcError(code, message))))
}

/** Answers without a body: to a preflight, or to notifications. */
export function sendNothing(response: ServerResponse): void {
  response.writeHead(204, CORS_HEADERS)
  response.end()
}

/** Ends a request whose handler threw: with the error while that is still possible. */
export function sendFault(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy()
  else sendJson(response, 500, frame(null, errorAnswer(error)))
}
