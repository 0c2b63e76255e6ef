import { readFileSync } from 'node:fs'
import { lifecycleDiagram } from './lifecycleDiagram.ts'

const STYLE = new URL('./lifecycleStyle.css', import.meta.url)

/** docs/reference/order-lifecycle.svg: the diagram as a file of its own, with its colours in it. */
export function lifecyclePicture(): string {
  const style = readFileSync(STYLE, 'utf8').trim()
  const svg = lifecycleDiagram(' xmlns="http://www.w3.org/2000/svg"')
  return `${svg.replace('<defs>', `<style>\n${style}\n</style>\n<defs>`)}\n`
}
