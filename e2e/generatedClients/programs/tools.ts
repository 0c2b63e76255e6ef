/** The parts of a trade that no generator makes: keys, signatures, transactions, patience. */
export interface Tools {
  readonly baseUrl: string
  readonly trader: string
  /** Body of createAgent, signed by the trader and the agent. */
  readonly authorization: {
    readonly trader: string
    readonly agent: string
    readonly name: string
    readonly scope: {
      readonly markets: 'all'
      readonly maxLeverage: null
      readonly dailySpendCapUsd: null
      readonly expiresAt: null
      readonly permissions: 'trade'
    }
    readonly timestamp: number
    readonly signature: string
    readonly agentSignature: string
  }
  /** Sends a request, signed by the agent where the document says so. */
  readonly fetch: typeof fetch
  /** Signs and sends a transaction of the service. Returns its hash once it is mined. */
  send(sender: 'trader' | 'agent', transaction: { readonly to: string; readonly data: string }): Promise<string>
  /** Reads an order until it is filled. */
  filled<Order extends { readonly status: string }>(read: () => Promise<Order>): Promise<Order>
}

/** An execution, as the order tells it. */
export interface Execution {
  readonly price: string
  readonly size: string
  readonly feeCollateral: string
}

/** The story of a program: its preview, and what became of it. */
export interface Traded {
  readonly preview: Execution
  readonly opened: Execution
  readonly closed: Execution
  /** Positions that are open in the end. */
  readonly left: number
}
