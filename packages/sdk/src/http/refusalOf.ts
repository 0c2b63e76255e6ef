import { BezelApiError } from '../errors/bezelApiError.ts'
import { BezelNetworkError } from '../errors/bezelNetworkError.ts'
import { ClockSkewError } from '../errors/clockSkewError.ts'

/** The typed error of an answer that is none of success. */
export function refusalOf(
  answer: Response,
  body: unknown,
  of: { readonly method: string; readonly url: string; readonly sentAtMs: number },
): BezelApiError | BezelNetworkError {
  if (!isErrorBody(body)) {
    const what = `the answer had status ${answer.status} and was no error of the interface`
    return new BezelNetworkError('UNEXPECTED_RESPONSE', { ...of, what, status: answer.status })
  }
  const requestId = answer.headers.get('x-request-id') ?? undefined
  const refusal = { ...body, status: answer.status, requestId }
  if (body.code !== 'TIMESTAMP_OUT_OF_WINDOW') return new BezelApiError(refusal)
  const serverMs = serverTimeMs(answer, body.details)
  return new ClockSkewError(refusal, serverMs === undefined ? undefined : of.sentAtMs - serverMs)
}

interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false
  const { code, message } = body as Partial<Record<string, unknown>>
  return typeof code === 'string' && typeof message === 'string'
}

/** Its details are exact; the `Date` header counts seconds, and browsers hide it from other origins. */
function serverTimeMs(answer: Response, details: ErrorBody['details']): number | undefined {
  const told = details?.['serverTime']
  if (typeof told === 'number') return told
  const date = Date.parse(answer.headers.get('date') ?? '')
  return Number.isNaN(date) ? undefined : date
}
