import { raw, type Sql } from './queries.ts'

/**
 * SQL for the title of a release in a sentence: "Checkout 1.2.0", or only "Lab" where the project has no versions, because the one behind it has
 * a name that nobody chose.
 *
 * @param release the alias of `crux.release`
 */
export const releaseTitleSql = (release: string): Sql =>
  raw(`case (select p.type from crux.project p where p.id = ${release}.project_id) when 'versionless' then ${release}.project_name
    else ${release}.project_name || ' ' || ${release}.version_name end`)
