import { useSignal } from '@preact/signals'
import type { ComponentChildren, VNode } from 'preact'
import { problemOf, type Problem } from '../ground/problem.ts'
import { Badge } from '../ui/Badge.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { sandboxUrl } from './sandboxState.ts'
import { callNode, SandboxError } from './sandboxRpc.ts'

/** A control of the local chain: what it does now, and what came of it. */
export interface Control {
  readonly isBusy: boolean
  readonly problem: Problem | null
  /** Sentence about the last thing done; null when nothing was done. */
  readonly said: string | null
  /** Calls a method of the local chain and says a sentence when it is done. Returns true then. */
  run(call: { readonly method: string; readonly params: readonly unknown[]; readonly said: string }): Promise<boolean>
}

/** Creates the state of one control. */
export function useControl(): Control {
  const isBusy = useSignal(false)
  const problem = useSignal<Problem | null>(null)
  const said = useSignal<string | null>(null)
  return {
    isBusy: isBusy.value,
    problem: problem.value,
    said: said.value,
    async run(call) {
      const url = sandboxUrl.peek()
      if (url === null || isBusy.peek()) return false
      isBusy.value = true
      said.value = null
      try {
        await callNode(url, call.method, call.params)
        problem.value = null
        said.value = call.said
        return true
      } catch (error) {
        problem.value = error instanceof SandboxError ? sandboxProblem(error) : problemOf(error)
        return false
      } finally {
        isBusy.value = false
      }
    },
  }
}

function sandboxProblem({ message }: SandboxError): Problem {
  return { title: 'Nothing was changed', message, remedy: null, code: null, isRefusedByUser: false }
}

interface ControlCardProps {
  readonly title: string
  /** Tells what to do and what to watch happen then. */
  readonly watch: string
  /** The present state in a word or two, and whether it is out of the ordinary. */
  readonly state?: { readonly label: string; readonly isUnusual: boolean } | undefined
  readonly control: Control
  readonly children?: ComponentChildren
}

/** The frame of a control. */
export function ControlCard({ title, watch, state, control, children }: ControlCardProps): VNode {
  return (
    <section class="system-card" aria-label={title}>
      <header class="system-card-head">
        <h3>{title}</h3>
        {state !== undefined && <Badge tone={state.isUnusual ? 'warn' : 'none'}>{state.label}</Badge>}
      </header>
      <p class="muted">{watch}</p>
      <div class="system-controls">{children}</div>
      <ProblemNotice problem={control.problem} />
      <p class="system-said" role="status">
        {control.said ?? ''}
      </p>
    </section>
  )
}
