import type { Migration } from './migration.ts'

/** Amounts of every entry of the history of fills. Nothing tells those of entries from before. */
export const books: Migration = {
  kind: 'expand',
  statements: [
    // A JSON object ends with a brace.
    `update fills set body = substr(body, 1, length(body) - 1) || ',"collateralSymbol":null,"feeCollateral":null,' ||
       '"fundingFee":null,"borrowingFee":null,"deposit":null,"payout":null,"forfeited":null,"netPnl":null}'`,
  ],
}
