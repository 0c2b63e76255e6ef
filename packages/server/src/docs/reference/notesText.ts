/** Remarks about a field or a parameter in one cell. */
export function notesText(notes: readonly string[]): string {
  return notes
    .map((note) => note.trim().replace(/\.$/, ''))
    .filter((note) => note !== '')
    .join('; ')
}
