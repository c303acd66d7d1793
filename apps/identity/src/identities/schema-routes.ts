import { IdentityError } from '../http/errors.ts'
import { linkTo, readOffsetPage } from '../http/pages.ts'
import type { Routes } from '../http/routes.ts'
import { identitySchema, schemaId } from './identity-schema.ts'
import { encodedSchemaId } from './wire.ts'

export const schemaRoutes: Routes = {
  '/schemas': {
    GET: async (visit) => {
      const { offset } = readOffsetPage(visit)
      visit.reply.header('link', linkTo(visit, 'first', { page: '0' })).header('x-total-count', 1)
      // Past its end the original's list is null; clients were written against that.
      return visit.reply
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(offset > 0 ? null : [{ id: schemaId, schema: identitySchema }]))
    },
  },
  '/schemas/:id': {
    GET: async (visit) => {
      const { id } = visit.request.params as { id: string }
      if (id !== schemaId && id !== encodedSchemaId)
        throw new IdentityError(404, { reason: 'The identity schema could not be found.' })
      return visit.reply.send(identitySchema)
    },
  },
}
