/** Which network a client means: its phantom agent says `a` for the exchange's mainnet and `b` for its testnet. */
export type PhantomSource = 'a' | 'b'

/** How user-signed actions name the same. */
export const HYPERLIQUID_CHAINS: Readonly<Record<PhantomSource, string>> = { a: 'Mainnet', b: 'Testnet' }
