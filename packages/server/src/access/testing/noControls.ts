import type { Controls } from '../controls.ts'

/** The controls of a deployment whose operator has set none. */
export const NO_CONTROLS: Controls = {
  writesPaused: () => undefined,
  relayerPaused: () => undefined,
  isPaused: () => undefined,
  budgets: () => ({}),
  close: async () => undefined,
}
