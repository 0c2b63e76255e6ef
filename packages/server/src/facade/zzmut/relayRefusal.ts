/** Why the relayer takes nothing more, of this trader or of anybody. */
export type RelayRefusal =
  'trader_budget' | 'deployment_budget' | 'low_balance' | 'gas_too_dear' | 'busy' | 'expired' | 'not_ready'

/** An action was not taken, and nothing of it is kept. Its message is made for the trader. */
export class RelayRefusedError extends Error {
  override readonly name = 'RelayRefusedError'
  readonly reason: RelayRefusal

  constructor(reason: RelayRefusal, message: string) {
    super(message)
    this.reason = reason
  }
}
