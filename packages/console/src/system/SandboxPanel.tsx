import type { VNode } from 'preact'
import { chainInfo } from '../data/chain.ts'
import { ChainControls } from './ChainControls.tsx'
import { PriceControls } from './PriceControls.tsx'
import { sandboxUrl } from './sandboxState.ts'

/** The controls of a local chain, so that one can watch what goes wrong elsewhere. Renders nothing on a live chain. */
export function SandboxPanel(): VNode | null {
  if (sandboxUrl.value === null) return null
  return (
    <section class="system-section" aria-labelledby="system-sandbox" data-testid="sandbox-panel">
      <header>
        <h2 id="system-sandbox">Sandbox</h2>
        <p class="muted">
          This chain runs on your machine and its money is worth nothing. Break it and watch. Prices and hours are one
          for all chains; the others act on {chainInfo.value?.name ?? 'this chain'}. States are as set from this
          browser.
        </p>
      </header>
      <div class="system-cards">
        <PriceControls />
        <ChainControls />
      </div>
    </section>
  )
}
