/** The counts of a provider, as its bill shows them. */
export interface BilledCounts {
  /** HTTP requests and WebSocket messages received so far, also those that were refused. */
  readonly requests: number
  /** Calls that were answered, each item of a batch alone. */
  readonly calls: number
  /** The answered calls by their method. */
  readonly byMethod: Readonly<Record<string, number>>
  /** Compute units of the answered calls. */
  readonly units: number
  /** Calls that were refused because of a limit, which no provider bills. */
  readonly refused: number
  /** Messages of subscriptions that were pushed. */
  readonly pushes: number
  /** The number of calls in the largest batch that was answered. */
  readonly largestBatch: number
}

/** Counts for a provider. */
export interface BillCounter {
  /** Returns the counts so far. */
  counts(): BilledCounts
  /** Starts all counts anew. */
  reset(): void
  countRequest(): void
  countAnswered(methods: readonly string[]): void
  countRefused(calls: number): void
  countPush(): void
}

/** Compute units of each method (spec/live.md; the others are those of the same price list). */
const UNITS: Readonly<Record<string, number>> = {
  eth_chainId: 0,
  net_version: 0,
  eth_subscribe: 10,
  eth_unsubscribe: 10,
  eth_blockNumber: 10,
  eth_feeHistory: 10,
  eth_gasPrice: 20,
  eth_getBlockByNumber: 20,
  eth_getBlockByHash: 20,
  eth_getBalance: 20,
  eth_getCode: 20,
  eth_getTransactionByHash: 20,
  eth_getTransactionCount: 20,
  eth_getTransactionReceipt: 20,
  eth_getBlockReceipts: 20,
  eth_estimateGas: 20,
  eth_call: 26,
  eth_getLogs: 60,
  eth_sendRawTransaction: 40,
  eth_sendRawTransactionSync: 40,
}

/** Units of a method that the list does not name. */
const OTHER_UNITS = 20

/** Returns the compute units that a call of a method costs. */
export function billedUnits(method: string): number {
  return UNITS[method] ?? OTHER_UNITS
}

export function createBillCounter(): BillCounter {
  const byMethod = new Map<string, number>()
  const sums = { requests: 0, calls: 0, units: 0, refused: 0, pushes: 0, largestBatch: 0 }

  return {
    counts: () => ({ ...sums, byMethod: Object.fromEntries([...byMethod].toSorted(([, a], [, b]) => b - a)) }),
    reset() {
      byMethod.clear()
      Object.assign(sums, { requests: 0, calls: 0, units: 0, refused: 0, pushes: 0, largestBatch: 0 })
    },
    countRequest: () => void (sums.requests += 1),
    countAnswered(methods) {
      sums.calls += methods.length
      sums.largestBatch = Math.max(sums.largestBatch, methods.length)
      for (const method of methods) {
        sums.units += billedUnits(method)
        byMethod.set(method, (byMethod.get(method) ?? 0) + 1)
      }
    },
    countRefused: (calls) => void (sums.refused += calls),
    countPush: () => void (sums.pushes += 1),
  }
}
