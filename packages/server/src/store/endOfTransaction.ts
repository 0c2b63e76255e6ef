import type { LastStatement, Transaction } from './sql.ts'

/** Collects what a transaction does at its end: the calls after the commit, and the statements that run with it. */
export function endOfTransaction(
  tells: (() => void)[],
  lasts: LastStatement[],
): Pick<Transaction, 'afterCommit' | 'atCommit'> {
  return {
    afterCommit: (tell) => void tells.push(tell),
    atCommit<Row>(text: string, params: LastStatement['params'], tell: (row: Row | undefined) => void) {
      const last: LastStatement = { text, params, row: undefined }
      lasts.push(last)
      tells.push(() => tell(last.row as Row | undefined))
    },
  }
}
