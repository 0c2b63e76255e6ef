/** Code is no place for links. */
const CODE = /(^```[\s\S]*?^```|`[^`\n]*`)/m

const TARGET = /\]\(([^()\s]+)\)/g

/** A page with other targets in its links; those that `urlOf` does not know stay as they are. */
export function rewriteLinks(markdown: string, urlOf: (href: string) => string | undefined): string {
  return markdown
    .split(new RegExp(CODE, 'gm'))
    .map((part, index) =>
      // Every second part is code, as the pattern captures it.
      index % 2 === 1 ? part : part.replaceAll(TARGET, (_link, href: string) => `](${urlOf(href) ?? href})`),
    )
    .join('')
}
