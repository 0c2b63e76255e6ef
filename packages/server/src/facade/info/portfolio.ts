import { userOf, type InfoRequest } from './infoRequest.ts'

const PERIODS = ['day', 'week', 'month', 'allTime', 'perpDay', 'perpWeek', 'perpMonth', 'perpAllTime']

/** What an account was worth in the past is not kept. */
export function portfolio(request: InfoRequest): unknown {
  userOf(request)
  return PERIODS.map((period) => [period, { accountValueHistory: [], pnlHistory: [], vlm: '0.0' }])
}
