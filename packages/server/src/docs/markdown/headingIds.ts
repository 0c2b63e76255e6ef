/**
 * Gives each heading of one page its anchor, by the rule that code hosts use, so that a link to a section works in the repository and here alike. A
 * text that comes again gets a number.
 */
export function createHeadingIds(): (text: string) => string {
  const taken = new Set<string>()
  return (text) => {
    const plain = text
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    let id = plain
    for (let count = 1; taken.has(id); count += 1) id = `${plain}-${count}`
    taken.add(id)
    return id
  }
}
