import type { FacadeReads } from '../facadeReads.ts'
import type { InfoRequest } from './infoRequest.ts'

export function exchangeStatus(_request: InfoRequest, { now }: FacadeReads): unknown {
  return { time: now(), specialStatuses: null }
}
