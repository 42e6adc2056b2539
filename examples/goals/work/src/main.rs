fn main() {
    // TODO: read the arguments
    println!("hello");
}
