/**
 * A step of the schema: forward only, never edited once released. SQL of the subset that SQLite and PostgreSQL share.
 */
export interface Migration {
  readonly statements: readonly string[]
}
