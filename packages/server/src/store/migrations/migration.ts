/**
 * A step of the schema: forward only, never edited once released. SQL of the subset that SQLite and PostgreSQL share.
 * It changes one table that requests use: nodes serve meanwhile, and two tables could be locked against each other.
 */
export interface Migration {
  /**
   * `expand` only adds, so a node of the version before goes on working beside it. `contract` takes away what older
   * nodes use, so none may be running.
   */
  readonly kind: 'expand' | 'contract'
  readonly statements: readonly string[]
}
