import { useEffect } from 'preact/hooks'
import { signal, type ReadonlySignal } from '@preact/signals'
import { session, sessionProblem } from '../session/session.ts'
import { connect, wallets, type WalletOption } from '../session/wallets.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Empty } from '../ui/Empty.tsx'
import { Icon } from '../ui/Icon.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'

const isOpen = signal(false)

/** True while the list of wallets is open. */
export const isConnectOpen: ReadonlySignal<boolean> = isOpen

/** Opens the list of wallets. */
export function openConnect(): void {
  isOpen.value = true
}

function closeConnect(): void {
  isOpen.value = false
}

/** The list of wallets. It closes by itself once one is connected. */
export function ConnectDialog() {
  const state = session.value
  const isConnected = state.kind === 'connected'
  useEffect(() => {
    if (isConnected) closeConnect()
  }, [isConnected])
  const found = wallets.value
  const extensions = found.filter(({ kind }) => kind === 'extension')
  const sandbox = found.filter(({ kind }) => kind === 'sandbox')
  return (
    <Dialog title="Connect a wallet" onClose={closeConnect}>
      <ProblemNotice problem={sessionProblem.value} />
      {state.kind === 'connecting' && <p role="status">{state.walletName} asks you: open it and answer.</p>}
      {found.length === 0 && (
        <Empty title="No wallet found">
          Install a browser wallet that announces itself (EIP-6963), such as MetaMask or Rabby, and reload the page.
        </Empty>
      )}
      {extensions.length > 0 && <WalletList title="Browser wallets" options={extensions} />}
      {sandbox.length > 0 && (
        <WalletList
          title="Sandbox accounts"
          about="Accounts of the local chain with play money. Their keys are public: use them here only."
          options={sandbox}
        />
      )}
    </Dialog>
  )
}

interface WalletListProps {
  readonly title: string
  readonly about?: string
  readonly options: readonly WalletOption[]
}

function WalletList({ title, about, options }: WalletListProps) {
  const state = session.value
  return (
    <section class="stack-tight" aria-label={title}>
      <h3>{title}</h3>
      {about !== undefined && <p class="muted">{about}</p>}
      <ul class="stack-tight">
        {options.map((option) => (
          <li key={option.id}>
            <button
              type="button"
              class="button wallet-option"
              data-testid={`wallet-option-${option.name}`}
              disabled={state.kind === 'connecting'}
              onClick={() => void connect(option)}
            >
              {option.icon === null ? (
                <Icon name="wallet" size={20} />
              ) : (
                <img src={option.icon} alt="" width={20} height={20} />
              )}
              {option.name}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
