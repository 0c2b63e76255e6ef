import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { useSignal } from '@preact/signals'
import { problemOf, type Problem } from '../ground/problem.ts'
import { Button } from '../ui/Button.tsx'
import { Empty } from '../ui/Empty.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { ErrorBoundary } from './ErrorBoundary.tsx'
import { Link, route, type Route } from '../router/router.ts'
import { startAgain, startState } from './start.ts'
import { pageOf, titleOf, type Page } from './views.ts'

/** The content of the page: the view of the address, or why there is none yet. */
export function ViewOutlet() {
  const shown = route.value
  const state = startState.value
  useTitle(shown)
  const page = pageOf(shown.view)
  const place = shown.view === 'trade' ? shown.market : shown.view
  return (
    <main id="content" class={`content content-${shown.view}`} tabIndex={-1}>
      {state.kind === 'failed' ? (
        <StartFailed problem={state.problem} />
      ) : page === undefined ? (
        <Missing route={shown} />
      ) : state.kind === 'starting' ? (
        <Loading page={page} />
      ) : (
        <ErrorBoundary key={place} where={page.label}>
          <LoadedView page={page} market={shown.view === 'trade' ? shown.market : ''} />
        </ErrorBoundary>
      )}
    </main>
  )
}

type Loaded =
  | { readonly kind: 'loading' }
  | { readonly kind: 'loaded'; readonly view: ComponentType<{ readonly market: string }> }
  | { readonly kind: 'failed'; readonly problem: Problem }

/** Views whose script is there, so that going back to one draws it at once. */
const known = new Map<string, ComponentType<{ readonly market: string }>>()

/** A view, once its script is there. */
function LoadedView({ page, market }: { readonly page: Page; readonly market: string }) {
  const loaded = useSignal<Loaded>(stateOf(page))
  const attempt = useSignal(0)
  const { view } = page
  useEffect(() => {
    if (known.has(view)) return
    let isGone = false
    loaded.value = { kind: 'loading' }
    const load = async () => {
      const next = await page.load().then(
        (found): Loaded => {
          known.set(view, found)
          return { kind: 'loaded', view: found }
        },
        (error: unknown): Loaded => ({ kind: 'failed', problem: problemOf(error) }),
      )
      if (!isGone) loaded.value = next
    }
    void load()
    return () => {
      isGone = true
    }
  }, [view, attempt.value])
  const now = loaded.value
  const isLoaded = now.kind === 'loaded'
  useEffect(() => {
    if (isLoaded) focusHeading()
  }, [isLoaded])
  if (now.kind === 'failed') return <ScriptFailed problem={now.problem} retry={() => attempt.value++} />
  if (now.kind === 'loading') return <Loading page={page} />
  const View = now.view
  return <View market={market} />
}

function stateOf({ view }: Page): Loaded {
  const found = known.get(view)
  return found === undefined ? { kind: 'loading' } : { kind: 'loaded', view: found }
}

/** True once a view was drawn. The first one of a visit leaves the focus where the browser puts it. */
let hasDrawn = false

/** Moves the focus to the heading of the view, so that the keyboard and screen readers go on from there. */
function focusHeading(): void {
  const isFirst = !hasDrawn
  hasDrawn = true
  if (isFirst || document.querySelector('dialog[open]') !== null) return
  const main = document.querySelector<HTMLElement>('#content')
  const heading = main?.querySelector<HTMLElement>('h1') ?? main
  if (heading?.tagName === 'H1') heading.tabIndex = -1
  heading?.focus({ preventScroll: true })
  scrollTo(0, 0)
}

function useTitle(shown: Route): void {
  const title = titleOf(shown)
  useEffect(() => {
    document.title = title
  }, [title])
}

function Loading({ page }: { readonly page: Page }) {
  return (
    <div class="content-loading" aria-busy="true">
      <p class="visually-hidden" role="status">
        {page.label} is loading
      </p>
      <Skeleton height="32px" width="200px" />
      <Skeleton height="240px" />
      <Skeleton lines={4} />
    </div>
  )
}

function ScriptFailed({ problem, retry }: { readonly problem: Problem; readonly retry: () => void }) {
  const actions = (
    <>
      <Button onClick={retry}>Try again</Button> <Button onClick={() => location.reload()}>Reload the page</Button>
    </>
  )
  return (
    <Notice tone="bad" title="This page could not be loaded" action={actions}>
      {problem.message} The service may be restarting, or it may have been updated. Try again, or reload the page.
    </Notice>
  )
}

function StartFailed({ problem }: { readonly problem: Problem }) {
  return (
    <div class="content-narrow">
      <h1>The service does not answer</h1>
      <ProblemNotice problem={problem} action={<Button onClick={startAgain}>Try now</Button>} />
      <p class="muted">The page tries again every three seconds and goes on by itself. Nothing of yours is lost.</p>
    </div>
  )
}

function Missing({ route: shown }: { readonly route: Route }) {
  return (
    <div class="content-narrow">
      <h1>Page not found</h1>
      <Empty title={`There is nothing at ${shown.view === 'missing' ? shown.path : ''}`}>
        <Link to="/">Go to the markets</Link>
      </Empty>
    </div>
  )
}
