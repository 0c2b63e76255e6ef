import type { ComponentChildren } from 'preact'
import { accountProblem } from '../data/account.ts'
import { problemOf } from '../ground/problem.ts'
import { session, sessionProblem, signIn } from '../session/session.ts'
import { Button } from '../ui/Button.tsx'
import { Empty } from '../ui/Empty.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'

interface AccountGateProps {
  /** Name of the things behind the gate, in the plural: `positions`. */
  readonly what: string
  readonly children?: ComponentChildren
}

/** Shows what belongs to an account, or the next step on the way to it. */
export function AccountGate({ what, children }: AccountGateProps) {
  const state = session.value
  switch (state.kind) {
    case 'none':
      return (
        <Empty title="No wallet is connected." testId="gate-connect">
          Connect one at the top of the page to see your {what}.
        </Empty>
      )
    case 'connecting':
      return <Empty title={`Connecting to ${state.walletName}`}>Answer the question of your wallet.</Empty>
    case 'connected':
      return state.isSignedIn ? (
        <>
          {accountProblem.value !== null && <ProblemNotice problem={problemOf(accountProblem.value)} />}
          {children}
        </>
      ) : (
        <Empty title="You are not signed in." testId="gate-sign-in">
          <p>{state.signedOutBecause ?? `One signature lets this page read your ${what}. It moves nothing.`}</p>
          <Button kind="primary" onClick={() => void signIn()} testId="gate-sign-in-button">
            Sign in
          </Button>
          <ProblemNotice problem={sessionProblem.value} />
        </Empty>
      )
  }
}
