import { useSignal } from '@preact/signals'
import { chainInfo } from '../data/chain.ts'
import { shortAddress } from '../ground/format.ts'
import { disconnect, session, signIn, type SessionState } from '../session/session.ts'
import { activeSigner } from '../session/sessionAgent.ts'
import { Button } from '../ui/Button.tsx'
import { CopyText } from '../ui/CopyText.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Menu, MenuItem } from '../ui/Menu.tsx'
import { ConnectDialog, isConnectOpen, openConnect } from './ConnectDialog.tsx'
import { openKeyboardHelp } from './KeyboardHelp.tsx'
import { Link } from '../router/router.ts'
import { startState } from './start.ts'

/** The account at the right end of the header: connect, sign in, or the menu of who is here. */
export function AccountArea() {
  const state = session.value
  const isStarted = startState.value.kind === 'started'
  return (
    <>
      {state.kind === 'connected' ? (
        <Connected state={state} />
      ) : (
        <Button
          kind="primary"
          busy={state.kind === 'connecting'}
          disabled={!isStarted}
          testId="connect"
          guide="wallet"
          onClick={openConnect}
        >
          <Icon name="wallet" />
          Connect
        </Button>
      )}
      {isConnectOpen.value && <ConnectDialog />}
    </>
  )
}

type ConnectedState = Extract<SessionState, { readonly kind: 'connected' }>

function Connected({ state }: { readonly state: ConnectedState }) {
  return (
    <>
      {!state.isSignedIn && <SignInButton />}
      <Menu
        label={`Account ${state.address.slice(0, 6)}…${state.address.slice(-4)}`}
        testId="account-menu"
        class="button account-button"
        button={
          <>
            <Icon name="wallet" />
            <span class="number">
              <span class="account-head">{state.address.slice(0, 6)}…</span>
              {state.address.slice(-4)}
            </span>
            <Icon name="chevronDown" />
          </>
        }
      >
        {(close: () => void) => <AccountMenu state={state} close={close} />}
      </Menu>
    </>
  )
}

/** The button that asks for the one signature of the sign-in. */
function SignInButton() {
  const busy = useSignal(false)
  const ask = async () => {
    busy.value = true
    try {
      await signIn()
    } finally {
      busy.value = false
    }
  }
  return (
    <Button kind="primary" busy={busy.value} testId="sign-in" guide="sign-in" onClick={() => void ask()}>
      Sign in
    </Button>
  )
}

function AccountMenu({ state, close }: { readonly state: ConnectedState; readonly close: () => void }) {
  const signer = activeSigner.value === 'session' ? 'the session agent of this tab' : 'the wallet'
  return (
    <>
      <div class="account-summary">
        <CopyText text={state.address} label={shortAddress(state.address)} />
        <p class="muted">
          {state.wallet.name} on {chainInfo.value?.name ?? 'this chain'}
        </p>
        <p class="muted">{state.isSignedIn ? `Signed in. Orders are signed by ${signer}.` : 'Not signed in.'}</p>
      </div>
      <hr />
      <Link to="/portfolio" class="menu-item" onClick={close}>
        <Icon name="portfolio" /> Portfolio
      </Link>
      <Link to="/agents" class="menu-item" onClick={close}>
        <Icon name="agents" /> Agents and keys
      </Link>
      <MenuItem
        onClick={() => {
          close()
          openKeyboardHelp()
        }}
      >
        <Icon name="keyboard" /> Keyboard shortcuts
      </MenuItem>
      <hr />
      <MenuItem
        danger
        testId="disconnect"
        onClick={() => {
          close()
          void disconnect()
        }}
      >
        <Icon name="close" /> Disconnect
      </MenuItem>
    </>
  )
}
