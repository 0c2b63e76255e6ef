import { BezelError } from './bezelError.ts'

export type NetworkFailure = 'NETWORK_ERROR' | 'TIMEOUT' | 'UNEXPECTED_RESPONSE'

const ADVICE: Readonly<Record<NetworkFailure, string>> = {
  NETWORK_ERROR: 'Check the base URL and the connection.',
  TIMEOUT: 'Check the connection, or allow more time (timeoutMs).',
  UNEXPECTED_RESPONSE: 'Check that the base URL is that of a Bezel service.',
}

/** No answer of the service came, so what became of the call is not known. */
export class BezelNetworkError extends BezelError {
  override readonly name = 'BezelNetworkError'
  override readonly code: NetworkFailure
  /** Of an answer that made no sense. */
  readonly status: number | undefined

  constructor(
    code: NetworkFailure,
    of: {
      readonly method: string
      readonly url: string
      readonly what: string
      readonly status?: number
      readonly cause?: unknown
    },
  ) {
    const isRead = of.method === 'GET'
    const unknown = isRead ? '' : ' Whether it was carried out is not known: read the account before you repeat it.'
    super(code, `${of.method} ${of.url}: ${of.what}. ${ADVICE[code]}${unknown}`, { retryable: isRead, cause: of.cause })
    this.code = code
    this.status = of.status
  }
}
