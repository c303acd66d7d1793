ALTER TABLE "crux"."access_token" DROP CONSTRAINT "access_token_holder";--> statement-breakpoint
ALTER TABLE "crux"."access_token" ADD COLUMN "registry_id" uuid;--> statement-breakpoint
ALTER TABLE "crux"."access_token" ADD CONSTRAINT "access_token_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_registry" ON "crux"."access_token" USING btree ("registry_id");--> statement-breakpoint
ALTER TABLE "crux"."access_token" ADD CONSTRAINT "access_token_holder" CHECK (num_nonnulls(user_id, service_account_id, deployment_id, registry_id) = 1);