import { BezelApiError, type ApiRefusal } from './bezelApiError.ts'

/** The service found the timestamp too far from its clock. `skewMs` is this clock minus the service's; positive is ahead. */
export class ClockSkewError extends BezelApiError {
  override readonly name = 'ClockSkewError'
  /** `undefined` when the service did not tell its time. */
  readonly skewMs: number | undefined

  constructor(refusal: ApiRefusal, skewMs: number | undefined) {
    super(refusal, sentence(skewMs))
    this.skewMs = skewMs
  }
}

function sentence(skewMs: number | undefined): string {
  const rule = 'Requests are accepted within 30 s of the service. Set the clock of this machine (NTP) and try again.'
  if (skewMs === undefined) return `This clock is more than 30 s from the service's. ${rule}`
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1)
  return `This clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service's. ${rule}`
}
