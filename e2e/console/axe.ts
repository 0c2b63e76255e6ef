import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** A rule of accessibility that elements of a page break. */
interface Violation {
  readonly id: string
  readonly impact: 'minor' | 'moderate' | 'serious' | 'critical' | null
  readonly help: string
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
}

const SHOWN_NODES = 3

/** Runs axe on a page. Returns the serious and critical findings, in words. */
export async function seriousFindings(page: Page): Promise<string[]> {
  const violations = await violationsOf(page)
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').flatMap(wordsOf)
}

/** Runs axe on a page. Returns all findings, in words. */
export async function allFindings(page: Page): Promise<string[]> {
  return (await violationsOf(page)).flatMap(wordsOf)
}

async function violationsOf(page: Page): Promise<Violation[]> {
  // Runs through the debugger, to which the policy of the page does not apply.
  await page.evaluate(axe.source)
  const run = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations))"
  return JSON.parse(await page.evaluate<string>(run)) as Violation[]
}

function wordsOf({ id, help, nodes }: Violation): string[] {
  return nodes
    .slice(0, SHOWN_NODES)
    .map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary ?? ''}`)
}

/** Returns by how many pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}
