import type { WebSocket } from 'ws'
import { errorAnswer, resultAnswer } from '../chain/answer.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { RPC_CODES, RpcError } from '../chain/rpcError.ts'
import { RPC_LIMITS } from './limits.ts'
import { frame, respond } from './respond.ts'
import type { Responder } from './respond.ts'
import { createSubscriptions } from './subscriptions.ts'
import type { Subscriptions } from './subscriptions.ts'

/** Serves JSON-RPC and subscriptions of one chain on one WebSocket until it closes. */
export function serveSocket(socket: WebSocket, chain: LocalChain, responder: Responder): void {
  const send = (text: string): void => sendBounded(socket, text)
  const subscriptions = createSubscriptions(send)
  const withSubscriptions = addSubscriptionMethods(responder, subscriptions)
  const stopBlocks = chain.onBlock(subscriptions.tellBlock)
  const stopPending = chain.onPendingTransaction(subscriptions.tellPending)
  let underWay = 0

  socket.on('message', async (message: Buffer) => {
    if (underWay >= RPC_LIMITS.maxSocketRequests) return send(frame(null, errorAnswer(tooManyRequests())))
    underWay += 1
    try {
      const answer = await respond(withSubscriptions, message.toString('utf8'))
      if (answer !== undefined) send(answer)
    } catch (error) {
      // Whatever it is, it concerns this message alone and not the process.
      send(frame(null, errorAnswer(error)))
    } finally {
      underWay -= 1
    }
  })
  socket.on('close', () => {
    stopBlocks()
    stopPending()
  })
  // ws closes the socket itself after a protocol error; without a listener the error would end the process.
  socket.on('error', () => undefined)
}

function addSubscriptionMethods(responder: Responder, subscriptions: Subscriptions): Responder {
  return {
    isWrite: responder.isWrite,
    async run(method, params, requestText) {
      if (method === 'eth_subscribe') return resultAnswer(subscriptions.subscribe(params))
      if (method === 'eth_unsubscribe') return resultAnswer(subscriptions.unsubscribe(params))
      return responder.run(method, params, requestText)
    },
  }
}

function sendBounded(socket: WebSocket, text: string): void {
  if (socket.readyState !== socket.OPEN) return
  if (socket.bufferedAmount > RPC_LIMITS.maxSocketBufferBytes) socket.terminate()
  else socket.send(text)
}

function tooManyRequests(): RpcError {
  return new RpcError(
    RPC_CODES.limitExceeded,
    `more than ${RPC_LIMITS.maxSocketRequests} requests under way on this socket`,
  )
}
