CREATE TABLE "crux"."deleted_node" (
	"node_id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"deleted_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "crux"."deleted_node" ADD CONSTRAINT "deleted_node_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deleted_node_newest" ON "crux"."deleted_node" USING btree ("team_id","deleted_at" DESC NULLS FIRST,"node_id" DESC NULLS FIRST);