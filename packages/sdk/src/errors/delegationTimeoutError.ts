import { BezelError } from './bezelError.ts'

/** The delegation was sent, but the service has not seen it on the chain yet. */
export class DelegationTimeoutError extends BezelError {
  override readonly name = 'DelegationTimeoutError'
  readonly txHash: `0x${string}`

  constructor(agent: string, txHash: `0x${string}`, timeoutMs: number) {
    const message = `Transaction ${txHash} was sent, but after ${timeoutMs / 1000} s ${agent} is not the delegate yet. Look whether it was mined (agents.get tells the status); do not send it again before.`
    super('DELEGATION_TIMEOUT', message)
    this.txHash = txHash
  }
}
