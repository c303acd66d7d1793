import { IdentityError } from '../http/errors.ts'
import { linkTo, readOffsetPage } from '../http/pages.ts'
import type { Routes } from '../http/routes.ts'
import { identitySchema, schemaId } from './identity-schema.ts'
import { encodedSchemaId } from './wire.ts'

export const schemaRoutes: Routes = {
  '/schemas': {
    GET: async (ctx) => {
      const { offset } = readOffsetPage(ctx)
      ctx.reply.header('link', linkTo(ctx, 'first', { page: '0' })).header('x-total-count', 1)
      // Past the last page, the list of Ory Kratos is null, and clients are written against that.
      return ctx.reply
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(offset > 0 ? null : [{ id: schemaId, schema: identitySchema }]))
    },
  },
  '/schemas/:id': {
    GET: async (ctx) => {
      const id = ctx.param('id')
      if (id !== schemaId && id !== encodedSchemaId)
        throw new IdentityError(404, { reason: 'The identity schema could not be found.' })
      return ctx.reply.send(identitySchema)
    },
  },
}
