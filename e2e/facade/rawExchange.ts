import { signL1Action } from '@nktkas/hyperliquid/signing'
import type { PrivateKeyAccount } from 'viem/accounts'
import { connectByCcxt } from './ccxtClient.ts'
import { type FacadeWorld } from './facadeWorld.ts'
import { until, within } from '@bezel/testkit/until.ts'

type Action = Readonly<Record<string, unknown>>

/** An envelope as a client makes it. */
export interface RawEnvelope {
  readonly action: Action
  readonly nonce: number
  readonly signature: { readonly r: string; readonly s: string; readonly v: number }
  readonly expiresAfter?: number
}

let lastNonce = 0

/** Returns the current time as a nonce, never the same twice. */
export function freshNonce(): number {
  lastNonce = Math.max(Date.now(), lastNonce + 1)
  return lastNonce
}

export async function envelopeOf(
  wallet: PrivateKeyAccount,
  action: Action,
  of: { readonly nonce?: number; readonly expiresAfter?: number } = {},
): Promise<RawEnvelope> {
  const { nonce = freshNonce(), expiresAfter } = of
  const expiry = expiresAfter === undefined ? {} : { expiresAfter }
  const signature = await signL1Action({ wallet, action, nonce, ...expiry })
  return { action, nonce, signature, ...expiry }
}

/** An answer of any kind. */
export interface RawAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
}

export async function postRaw({ base }: Pick<FacadeWorld, 'base'>, body: string | object): Promise<RawAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { 'content-type': 'application/json' }
  return within(`an answer to ${text}`, async (signal) => {
    const answer = await fetch(`${base}/exchange`, { method: 'POST', headers, body: text, signal })
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() }
  })
}

/** Registers an agent, and waits until it may act. */
export async function connectRaw(world: FacadeWorld, trader: string, agent: string): Promise<PrivateKeyAccount> {
  await connectByCcxt(world, trader, agent)
  const wallet = world.chain.account(agent)
  await until('the delegation is seen', async (saw) => {
    const { text } = await postRaw(world, await envelopeOf(wallet, { type: 'scheduleCancel' }))
    saw(text)
    return JSON.parse(text).status === 'ok'
  })
  return wallet
}
