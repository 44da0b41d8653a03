import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/** The columns of a table as its entity names them, for statements that are written by hand: an entity costs a query of its own. */
export class RawRows<Entity extends ObjectLiteral> {
  private columns: readonly ColumnMetadata[] | null = null;

  constructor(private readonly entity: EntityTarget<Entity>) {}

  /**
   * For SELECT and RETURNING.
   * @param instead of a column of this name in the table, what to read
   */
  list(manager: EntityManager, alias: string, instead: Readonly<Record<string, string>> = {}): string {
    return this.of(manager)
      .map(
        ({ databaseName, propertyName }) =>
          `${instead[databaseName] ?? `${alias}."${databaseName}"`} AS "${propertyName}"`,
      )
      .join(', ');
  }

  /** The row with its columns of JSON read; it is changed in place. */
  read(manager: EntityManager, row: Record<string, unknown>): Entity {
    for (const { propertyName, transformer } of this.of(manager)) {
      if (transformer && !Array.isArray(transformer)) row[propertyName] = transformer.from(row[propertyName]);
    }
    return row as Entity;
  }

  private of(manager: EntityManager): readonly ColumnMetadata[] {
    return (this.columns ??= manager.connection.getMetadata(this.entity).columns);
  }
}
