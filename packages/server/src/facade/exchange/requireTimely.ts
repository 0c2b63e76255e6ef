import type { Envelope } from '../signing/envelope.ts'
import { isInNonceWindow, NONCE_WINDOW_MS } from '../signing/nonceWindow.ts'
import { ExchangeErr } from './exchangeErr.ts'

/** Throws unless the envelope is of now and its sender still wants it. */
export function requireTimely({ nonce, expiresAfter }: Pick<Envelope, 'nonce' | 'expiresAfter'>, nowMs: number): void {
  if (!isInNonceWindow(nonce, nowMs)) {
    throw new ExchangeErr(
      `Invalid nonce: ${nonce} is more than ${NONCE_WINDOW_MS / 1000} s from server time ${nowMs}. Use the clock in milliseconds.`,
    )
  }
  if (expiresAfter !== null && expiresAfter < nowMs) {
    throw new ExchangeErr(`Action expired: expiresAfter ${expiresAfter} is before server time ${nowMs}.`)
  }
}

/** What is answered when `FacadeNonces` says that a nonce was not free. */
export function nonceUsed(nonce: number): ExchangeErr {
  return new ExchangeErr(`Invalid nonce: ${nonce} was already used by this signer. Use a new one for each action.`)
}
