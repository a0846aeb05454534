struct Nobody;

impl starter_tools::native::Handlers for Nobody {}

fn main() {}
